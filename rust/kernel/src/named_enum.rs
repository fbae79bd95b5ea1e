//! Enums whose variants have names: of anomalies, levels, relations, sources of an order.

/// Declares an enum with the name of each variant, which `as_str` gives and Python sees.
///
/// `ALL` has the variants in their order, so that `variant as usize` is a place in it.
macro_rules! named_enum {
    (
        $(#[$meta:meta])*
        $visibility:vis enum $name:ident {
            $($(#[$variant_meta:meta])* $variant:ident => $text:literal),+ $(,)?
        }
    ) => {
        $(#[$meta])*
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
        )]
        #[repr(u8)]
        #[allow(missing_docs)]
        $visibility enum $name {
            $($(#[$variant_meta])* $variant,)+
        }

        impl $name {
            /// How many variants there are.
            pub const COUNT: usize = [$($text),+].len();
            /// Every variant, in order.
            pub const ALL: [Self; Self::COUNT] = [$(Self::$variant),+];

            /// The name.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)+
                }
            }

            /// The variant with this name.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|variant| variant.as_str() == name)
            }
        }
    };
}

pub(crate) use named_enum;
