//! Groups of options that several commands share.

mod claim;
mod device;
mod files;
mod mechanism;
mod output;
mod page;
mod plot;
mod privacy_statement;
mod run;
mod statement;
mod subcommand;
mod training;
mod values;
mod votes;

pub(crate) use claim::ClaimArgs;
pub(crate) use device::{DeviceArgs, DeviceChoice};
pub(crate) use files::{check_apart, reads_file, writes_file};
pub(crate) use mechanism::{
    AccountedArgs, ComparedParameterArgs, LengthArgs, MechanismArgs, ParameterArgs, RecordsArg,
    SamplerArgs, SettingArgs,
};
pub(crate) use output::{ReportArgs, ShowArgs};
pub(crate) use page::{HINTS, PageArgs, ReportFormat};
pub(crate) use plot::{PlotArgs, check_drawing, write_drawing};
pub(crate) use privacy_statement::PrivacyStatementArgs;
pub(crate) use run::RunArgs;
pub(crate) use statement::{DELTA_ABOVE_0, LevelArgs, RuleArg, StatementArgs};
pub(crate) use subcommand::SubcommandOr;
pub(crate) use training::{DataArgs, MemoryArgs};
pub(crate) use values::{
    batch_size, confidence, count, delta, epochs, epsilon, number, open_unit, positive, seed,
    shard, significance, small_count,
};
pub(crate) use votes::{IterationArgs, VoteArgs};
