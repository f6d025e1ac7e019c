//! The device of the shards.

use dpscope_core::foreign_text::ForeignText;

use crate::args::DeviceChoice;
use crate::failure::Failure;
use crate::given::GivenOption;

/// The device of `launch --device`, or of the audit.
pub(super) fn device_of(
    asked: Option<&DeviceChoice>,
    options: &[GivenOption<'_>],
) -> Result<DeviceChoice, Failure> {
    let of_audit = options.iter().find(|option| option.id() == "device");
    let of_audit = of_audit.and_then(|option| option.values.first()?.parse::<DeviceChoice>().ok());
    let device = match (asked, of_audit) {
        (Some(asked), Some(of_audit)) if *asked != of_audit => {
            return Err(Failure::input(format!(
                "--device is {asked} before the audit and {of_audit} in it: pass it once"
            )));
        }
        (Some(asked), _) => asked.clone(),
        (None, of_audit) => of_audit.unwrap_or(DeviceChoice::Cpu),
    };
    if device == DeviceChoice::Auto {
        return Err(Failure::input(
            "--device is auto, but each shard must reserve a known device: pass cpu, gpu, or part of \
             the name of a GPU",
        ));
    }
    // also those numbers that are words of a name here: on another node they can be an index
    if let DeviceChoice::Named(name) = &device
        && name.parse::<u64>().is_ok()
    {
        return Err(Failure::input(format!(
            "--device is {name}, but each node numbers its devices itself: pass gpu, or part of the \
             name of a GPU that is not a number, such as H100 or RTX 4090"
        )));
    }
    Ok(device)
}

/// A device by its name, which scripts can hold.
pub(super) fn device(text: &str) -> Result<DeviceChoice, String> {
    let is_word = |c: char| c.is_ascii_graphic() || c == ' ';
    if text.trim().is_empty() || !text.chars().all(is_word) || text.starts_with('-') {
        return Err(format!(
            "`{}` is not a device: expected cpu, gpu, or part of the name of a GPU",
            ForeignText::new(text)
        ));
    }
    let Ok(device) = text.parse();
    Ok(device)
}

/// The extended resource of Kubernetes that a shard reserves: a domain and a name.
pub(super) fn resource(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_ascii_alphanumeric();
    let is_part = |part: &str, others: &str| {
        (1..=63).contains(&part.len())
            && part.starts_with(plain)
            && part.ends_with(plain)
            && part.chars().all(|c| plain(c) || others.contains(c))
    };
    let is_resource = text.split_once('/').is_some_and(|(domain, name)| {
        let is_lower = !domain.contains(|c: char| c.is_ascii_uppercase());
        is_lower && domain.split('.').all(|part| is_part(part, "-")) && is_part(name, "-_.")
    });
    if is_resource {
        return Ok(text.to_owned());
    }
    Err(format!(
        "`{}` is not a resource of Kubernetes: expected a domain and a name, such as nvidia.com/gpu",
        ForeignText::new(text)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_that_break_scripts_are_rejected() {
        assert_eq!(device("GPU"), Ok(DeviceChoice::Gpu));
        assert_eq!(device("NVIDIA H100"), Ok(DeviceChoice::Named("NVIDIA H100".to_owned())));
        for text in ["", " ", "-x", "a\nb", "ä"] {
            assert!(device(text).is_err(), "{text}");
        }
    }

    #[test]
    fn numbers_are_no_devices_of_all_nodes() {
        let of = |text: &str| device_of(Some(&DeviceChoice::Named(text.to_owned())), &[]);
        for text in ["0", "1", "+0", "4090"] {
            let refused = of(text).unwrap_err().error.to_string();
            assert!(refused.contains(text) && refused.contains("pass gpu"), "{refused}");
        }
        for text in ["H100", "RTX 4090", "llvmpipe", "1a"] {
            assert!(of(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn resources_have_a_domain_and_a_name() {
        let known =
            ["nvidia.com/gpu", "amd.com/gpu", "gpu.intel.com/i915", "nvidia.com/mig-1g.5gb"];
        assert!(known.iter().all(|text| resource(text).is_ok()));
        for text in
            ["", "gpu", "/gpu", "nvidia.com/", "a b/gpu", "A.com/gpu", "a.com/b/c", "a..b/c"]
        {
            assert!(resource(text).is_err(), "{text}");
        }
    }
}
