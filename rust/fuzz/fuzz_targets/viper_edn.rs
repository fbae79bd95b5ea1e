#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| isoscope_fuzz::viper_edn(input));
