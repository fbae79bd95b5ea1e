//! Enumerations whose members have a name in profiles, findings and Python.

/// Declares an enumeration together with the name of each member.
macro_rules! named_enum {
    (
        $(#[$meta:meta])*
        pub enum $name:ident { $($(#[$doc:meta])* $member:ident = $text:literal),+ $(,)? }
    ) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[repr(u8)]
        pub enum $name { $($(#[$doc])* $member),+ }

        impl $name {
            /// Every member.
            pub const ALL: [Self; [$($text),+].len()] = [$(Self::$member),+];

            /// The name of the member.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$member => $text),+ }
            }

            /// The member with this name.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.into_iter().find(|member| member.as_str() == name)
            }
        }
    };
}

pub(crate) use named_enum;
