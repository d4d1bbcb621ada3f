//! `pleat completions`: what a shell needs to complete the command, its subcommands and its flags.

use anyhow::Result;
use clap::{Args, CommandFactory, ValueEnum};
use clap_complete::Shell;

use super::Context;
use crate::arguments::Arguments;

const EXAMPLES: &str = "\
Examples:
  pleat completions bash > ~/.local/share/bash-completion/completions/pleat
  pleat completions zsh > ~/.zfunc/_pleat
  pleat completions fish > ~/.config/fish/completions/pleat.fish";

/// Print a completion script for a shell
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct CompletionsArgs {
    shell: Dialect,
}

#[derive(Clone, Copy, ValueEnum)]
enum Dialect {
    Bash,
    Zsh,
    Fish,
}

pub fn run(args: &CompletionsArgs, context: &Context<'_>) -> Result<()> {
    let shell = match args.shell {
        Dialect::Bash => Shell::Bash,
        Dialect::Zsh => Shell::Zsh,
        Dialect::Fish => Shell::Fish,
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Arguments::command(), "pleat", &mut script);
    Ok(context.output.piece(&String::from_utf8_lossy(&script))?)
}
