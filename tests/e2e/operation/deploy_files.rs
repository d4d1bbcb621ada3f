//! The files of `deploy/` and `docker-compose.yml`: they parse, and what they set exists.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::Value;

use crate::harness::project::Project;
use crate::harness::root;

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn yaml(path: &str) -> Vec<Value> {
    let text = read(path);
    let documents = serde_yaml_ng::Deserializer::from_str(&text);
    documents.map(|one| Value::deserialize(one).unwrap_or_else(|error| panic!("{path}: {error}"))).collect()
}

fn manifests() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join("deploy/kubernetes")).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

fn all_texts() -> Vec<(String, String)> {
    let mut paths: Vec<String> =
        ["docker-compose.yml", "deploy/Dockerfile", "deploy/pleat.service"].map(str::to_owned).into();
    paths.extend(manifests().iter().map(|path| path.strip_prefix(root()).unwrap().display().to_string()));
    paths.into_iter().map(|path| (read(&path), path)).map(|(text, path)| (path, text)).collect()
}

/// Words that begin with this, up to what cannot be part of a name.
fn words(text: &str, prefix: &str) -> BTreeSet<String> {
    let parts = text.split(|character: char| !character.is_ascii_alphanumeric() && !"_-".contains(character));
    parts.filter(|word| word.starts_with(prefix) && word.len() > prefix.len()).map(str::to_owned).collect()
}

#[tokio::test]
async fn every_flag_and_variable_that_they_use_exists() {
    let project = Project::new();
    let help = project.pleat(&["serve", "--help"]).await.ok().stdout;
    let keys = project.pleat(&["config", "--json"]).await.ok().json()["values"].take();
    let by_key =
        keys.as_object().unwrap().keys().map(|key| format!("PLEAT_{}", key.replace('.', "_").to_ascii_uppercase()));
    let mut known: BTreeSet<String> = by_key.collect();
    known.extend(words(&help, "PLEAT_"));
    // Of the image's build, and of the compose file's own.
    known.extend(["PLEAT_COMMIT", "PLEAT_DATABASE_PASSWORD", "PLEAT_POSTGRES_IMAGE"].map(str::to_owned));
    for (path, text) in all_texts() {
        for name in words(&text, "PLEAT_") {
            assert!(known.contains(&name), "{path}: there is no {name}");
        }
        let started = text.lines().filter(|line| line.contains("\"serve\"") || line.contains("pleat serve"));
        for flag in started.flat_map(|line| words(line, "--")) {
            assert!(help.contains(&flag), "{path}: `pleat serve` has no {flag}");
        }
    }
}

#[test]
fn the_compose_file_starts_the_same_binary_on_a_real_database() {
    let compose = yaml("docker-compose.yml").remove(0);
    let pleat = &compose["services"]["pleat"];
    assert_eq!(pleat["command"], serde_json::json!(["serve"]));
    assert_eq!(pleat["depends_on"]["database"]["condition"], "service_healthy");
    assert!(root().join(pleat["build"]["dockerfile"].as_str().unwrap()).is_file());
    let environment = pleat["environment"].as_object().unwrap();
    assert!(environment["PLEAT_MASTER_KEY"].as_str().unwrap().starts_with("${PLEAT_MASTER_KEY:?"), "it must be given");
    assert!(environment["DATABASE_URL"].as_str().unwrap().contains("@database/"));
    let database = &compose["services"]["database"]["environment"];
    assert!(database["POSTGRES_PASSWORD"].as_str().unwrap().starts_with("${PLEAT_DATABASE_PASSWORD:?"), "no default");
    // Without this there may be swap, and instances are reset the slow way: services/runtime/src/swap.rs.
    assert_eq!(pleat["mem_limit"], pleat["memswap_limit"]);
    let limit = pleat["mem_limit"].as_str().and_then(|text| text.strip_suffix('g')).unwrap().parse::<u64>().unwrap();
    fits(environment["PLEAT_RUNTIME_COMPILE_MEMORY_MIB"].as_u64().unwrap(), limit * 1_024);
    for volume in pleat["volumes"].as_array().unwrap() {
        let name = volume.as_str().unwrap().split(':').next().unwrap();
        assert!(compose["volumes"].get(name).is_some(), "{name}");
    }
}

/// Two compilations at once leave the server half a gigabyte; the largest honest one takes as much.
fn fits(one_compilation: u64, limit: u64) {
    assert!(one_compilation >= 1_024 && 2 * one_compilation + 512 <= limit, "{one_compilation} of {limit} MiB");
}

#[tokio::test]
async fn the_manifests_fit_together_and_their_configuration_is_taken() {
    let named: Vec<Value> =
        manifests().iter().flat_map(|path| yaml(path.strip_prefix(root()).unwrap().to_str().unwrap())).collect();
    let one = |kind: &str| named.iter().find(|one| one["kind"] == kind).unwrap_or_else(|| panic!("no {kind}"));
    let pod = &one("Deployment")["spec"]["template"];
    let container = &pod["spec"]["containers"][0];
    let labels = &pod["metadata"]["labels"];
    for kind in ["Service", "PodDisruptionBudget"] {
        let spec = &one(kind)["spec"]["selector"];
        let selector = if kind == "Service" { spec } else { &spec["matchLabels"] };
        assert_eq!(selector, labels, "{kind}");
    }
    for probe in ["startupProbe", "livenessProbe", "readinessProbe"] {
        let path = container[probe]["httpGet"]["path"].as_str().unwrap();
        let expected = if probe == "readinessProbe" { "/readyz" } else { "/healthz" };
        assert_eq!(path, expected);
    }
    let secret = one("Secret")["stringData"].as_object().unwrap();
    for variable in container["env"].as_array().unwrap() {
        if let Some(key) = variable["valueFrom"]["secretKeyRef"]["key"].as_str() {
            assert!(secret.contains_key(key), "the example secret has no {key}");
        }
    }
    let grace = pod["spec"]["terminationGracePeriodSeconds"].as_u64().unwrap();
    let project = Project::new();
    let text = one("ConfigMap")["data"]["pleat.toml"].as_str().unwrap();
    let path = crate::harness::project::write(&project.path, "map.toml", text);
    let values = project.pleat(&["config", "--json", "--config", &path]).await.ok().json()["values"].take();
    let limit = container["resources"]["limits"]["memory"].as_str().and_then(|text| text.strip_suffix("Gi")).unwrap();
    fits(values["runtime.compile_memory_mib"]["value"].as_u64().unwrap(), limit.parse::<u64>().unwrap() * 1_024);
    let drain = values["server.drain_seconds"]["value"].as_u64().unwrap();
    assert!(grace >= drain + 5 + 30, "preStop, drain and the last writes fit into {grace} s");
    let ports: Vec<_> =
        container["ports"].as_array().unwrap().iter().map(|port| port["containerPort"].to_string()).collect();
    for key in ["server.listen", "metrics.listen"] {
        let port = values[key]["value"].as_str().unwrap().rsplit(':').next().unwrap().to_owned();
        assert!(ports.contains(&port), "{key}: {ports:?}");
    }
}

/// Metrics need no key on their own address.
#[test]
fn only_the_monitoring_reaches_the_metrics_of_the_pods_and_volumes_are_bounded() {
    let policy = yaml("deploy/kubernetes/networkpolicy.yaml").remove(0);
    let pod = yaml("deploy/kubernetes/deployment.yaml").remove(0)["spec"]["template"].take();
    assert_eq!(policy["spec"]["podSelector"]["matchLabels"], pod["metadata"]["labels"]);
    for rule in policy["spec"]["ingress"].as_array().unwrap() {
        let opens_metrics = rule["ports"].as_array().is_none_or(|ports| ports.iter().any(|one| one["port"] != "http"));
        assert!(!opens_metrics || rule["from"].is_array(), "{rule}");
    }
    let named = yaml("deploy/kubernetes/kustomization.yaml").remove(0)["resources"].clone();
    assert!(named.as_array().unwrap().iter().any(|file| file == "networkpolicy.yaml"));
    for volume in pod["spec"]["volumes"].as_array().unwrap() {
        let bounded = volume.get("emptyDir").is_none_or(|directory| directory["sizeLimit"].is_string());
        assert!(bounded, "{volume}");
    }
}

#[test]
fn images_have_exact_versions_or_digests() {
    for (path, text) in all_texts() {
        assert!(!text.contains(":latest"), "{path}");
    }
    let dockerfile = read("deploy/Dockerfile");
    let defaults = dockerfile.lines().filter_map(|line| line.strip_prefix("ARG ")?.split_once("_IMAGE="));
    let tags: Vec<&str> = defaults.map(|(_, image)| image.split_once(':').expect("a tag").1).collect();
    assert_eq!(tags.len(), 2);
    assert!(tags.iter().all(|tag| tag.contains('.')), "{tags:?}");
}

#[test]
fn the_unit_does_not_forbid_what_compiled_functions_need() {
    let unit = read("deploy/pleat.service");
    let set = |name: &str| unit.lines().any(|line| line.starts_with(name));
    assert!(!set("MemoryDenyWriteExecute"), "compiled functions are mapped and executed");
    assert!(set("MemorySwapMax=0") && set("NoNewPrivileges=yes") && set("EnvironmentFile="));
}
