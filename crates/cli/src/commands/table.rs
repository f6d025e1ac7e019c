//! The table of subcommands.

/// Defines the subcommands and their dispatch: a variant, its arguments and its module per line.
macro_rules! subcommands {
    ($name:ident { $($(#[$about:meta])* $command:ident($args:ty) => $module:ident $(if $feature:literal)?,)* }) => {
        #[derive(Debug, clap::Subcommand)]
        pub(crate) enum $name {
            $($(#[$about])* $(#[cfg(feature = $feature)])? $command($args),)*
        }

        impl $name {
            pub(crate) fn run(&self) -> crate::failure::CommandResult {
                match self {
                    $($(#[cfg(feature = $feature)])? $name::$command(args) => $module::run(args),)*
                 }
            }
        }
    };
}
