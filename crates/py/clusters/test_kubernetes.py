"""Manifests obey the schemas of Kubernetes."""

import pytest
from conftest import AUDIT

import dpscope

validator = pytest.importorskip("kubernetes_validate")
yaml = pytest.importorskip("yaml")

OPTIONS = [
    {},
    {"time_limit": 30, "claim_name": "shared", "memory": "512Mi", "cpus_per_shard": 4},
    {"device": "gpu"},
    {"device": "MI300X", "gpu_resource": "amd.com/gpu", "memory": "4Gi"},
    {"name": "run-1", "image": "registry.example:5000/a/dpscope@sha256:" + "0" * 64},
]


def manifest(**options):
    options = {"image": "registry.example/dpscope", "shards": 3, **options}
    audit = [*AUDIT.removesuffix(" --device cpu").split(), "--plot", "it's \"a\" $(HOME): #1 – ε.svg", "--claim", "3"]
    return dpscope.launch_kubernetes(audit, **options).text


def objects(text):
    return list(yaml.safe_load_all(text))


@pytest.mark.parametrize("options", OPTIONS)
def test_manifests_obey_the_schemas(options):
    found = objects(manifest(**options))
    kinds = ["Job", "Job"] if "claim_name" in options else ["PersistentVolumeClaim", "Job", "Job"]
    assert [one["kind"] for one in found] == kinds
    for one in found:
        validator.validate(one, "1.37", strict=True)
    pods = [one["spec"]["template"]["spec"] for one in found[-2:]]
    assert "it's \"a\" $$(HOME): #1 – ε.svg" in pods[1]["containers"][0]["args"]
    assert pods[0]["restartPolicy"] == "Never"  # as backoffLimitPerIndex requires
    limits = [pod["containers"][0]["resources"]["limits"] for pod in pods]
    resource = options.get("gpu_resource", "nvidia.com/gpu")
    assert limits[0].get(resource) == ("1" if "device" in options else None)
    assert list(limits[1]) == ["memory"]  # of the merge


@pytest.mark.parametrize(
    "change",
    [
        ("completions: 3", "completions: three"),
        ("backoffLimitPerIndex", "backoffLimitByIndex"),
        ("drop: [ALL]", "drop: ALL"),
        ("values: [5]", "values: [two]"),
        ('"nvidia.com/gpu": "1"', '"nvidia.com/gpu": [1]'),
        ("value: compute,graphics,utility", "value: {}"),
    ],
)
def test_wrong_manifests_are_detected(change):
    text = manifest(device="gpu")
    assert change[0] in text
    with pytest.raises((validator.ValidationError, validator.InvalidSchemaError)):
        for one in objects(text.replace(*change)):
            validator.validate(one, "1.37", strict=True)
