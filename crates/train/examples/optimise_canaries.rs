//! Optimises the canaries of a training on synthetic data and prints what that gained.

use dpscope_train::data::SyntheticData;
use dpscope_train::metagradient::{
    CanaryOptimization, CanaryStart, Checkpointing, FeatureRanges, OptimizationSettings,
    StartLabels,
};
use dpscope_train::{LayerSpec, ModelSpec, Network};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let data = SyntheticData::LocationLike.generate(800, 0)?;
    let layers = vec![
        LayerSpec::Linear { outputs: 32 },
        LayerSpec::Tanh,
        LayerSpec::Linear { outputs: data.classes() },
    ];
    let network = Network::new(&ModelSpec { input: data.shape(), layers })?;
    let start = CanaryStart::draw(&data, 100, None, StartLabels::Own, 1)?;
    let settings =
        OptimizationSettings { steps: 60, batch_size: 60, ..OptimizationSettings::new(40, 1) };
    let optimization = CanaryOptimization {
        network: &network,
        base: &start,
        records: start.base_records(),
        labels: &start.labels,
        ranges: &FeatureRanges::of(&data),
        settings: &settings,
        checkpointing: Checkpointing::StoreAll,
        device: None,
        keep_going: &|| true,
    };
    let mut state = optimization.start(start.canaries.clone())?;
    println!("metasmoothness {:.2}", optimization.metasmoothness(&start.canaries)?);
    while !optimization.is_finished(&state) {
        optimization.step(&mut state)?;
    }
    for (name, canaries) in [("random", &start.canaries[..]), ("optimised", state.best_canaries())]
    {
        let evaluation = optimization.evaluate(0, 10, canaries)?;
        let [raw, calibrated] = [evaluation.raw(), evaluation.calibrated()];
        println!(
            "{name}: AUC {:.3} ± {:.3}, calibrated {:.3} ± {:.3}",
            raw.value, raw.standard_error, calibrated.value, calibrated.standard_error
        );
    }
    Ok(())
}
