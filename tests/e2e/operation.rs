//! What an operator leans on: probes, metrics, traces, logs, CORS, the configuration, the doctor, the files of `deploy/`,
//! and code that another engine compiled.

mod artefacts;
mod backup;
mod commands;
mod config;
mod connections;
mod cors;
mod deploy_files;
mod doctor;
mod logs;
mod metrics;
mod nosniff;
mod probes;
mod serving;
mod traces;
