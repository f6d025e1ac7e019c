//! Pictures of features: runs of equal colour, which stay sharp at any size.

use std::collections::BTreeMap;

use super::svg::{Place, coordinate};

/// Levels of grey, and of each channel in colour.
const GREYS: f32 = 15.0;
const COLOURS: f32 = 5.0;

/// A grid of colours.
#[derive(Debug)]
pub(super) struct Picture {
    width: usize,
    /// Row by row.
    colours: Vec<[u8; 3]>,
}

impl Picture {
    /// Features of shape (channels, height, width): grey, or colour with three channels or more.
    /// Values outside `range` have the colour of its ends.
    pub(super) fn new(
        [channels, height, width]: [usize; 3],
        range: [f32; 2],
        values: &[f32],
    ) -> Self {
        let positions = height * width;
        let steps = if channels >= 3 { COLOURS } else { GREYS };
        let level = |channel: usize, at: usize| {
            let value = values.get(channel * positions + at).copied().unwrap_or(range[0]);
            let share = (value - range[0]) / (range[1] - range[0]).max(f32::MIN_POSITIVE);
            // NaN becomes 0
            ((share.clamp(0.0, 1.0) * steps).round() * (255.0 / steps)) as u8
        };
        let colour = |at: usize| match channels {
            0..3 => [level(0, at); 3],
            _ => [0, 1, 2].map(|channel| level(channel, at)),
        };
        Picture { width, colours: (0..positions).map(colour).collect() }
    }

    /// Rows of features, 0 white and 1 dark.
    pub(super) fn table(features: usize, range: [f32; 2], values: &[f32]) -> Self {
        let rows = values.len() / features.max(1);
        let mut picture = Picture::new([1, rows, features], range, values);
        picture.colours.iter_mut().flatten().for_each(|level| *level = 255 - *level);
        picture
    }

    /// The picture in a rectangle of some size.
    pub(super) fn drawn(&self, at: Place, (wide, high): Place) -> String {
        let rows = self.colours.len() / self.width.max(1);
        let mut runs: BTreeMap<[u8; 3], (usize, String)> = BTreeMap::new();
        for (y, row) in self.colours.chunks(self.width.max(1)).enumerate() {
            let mut x = 0;
            for run in row.chunk_by(|one, other| one == other) {
                let (area, path) = runs.entry(run[0]).or_default();
                *area += run.len();
                path.push_str(&format!("M{x} {y}h{0}v1h-{0}z", run.len()));
                x += run.len();
            }
        }
        // The most frequent colour is drawn once, below the others.
        let ground = runs.iter().max_by_key(|(_, (area, _))| *area).map(|(colour, _)| *colour);
        let [sx, sy] = [wide / self.width.max(1) as f64, high / rows.max(1) as f64];
        let mut out = format!(
            "<g transform=\"translate({} {}) scale({sx:.4} {sy:.4})\" shape-rendering=\"crispEdges\">",
            coordinate(at.0),
            coordinate(at.1)
        );
        if let Some(ground) = ground {
            out.push_str(&format!(
                "<path fill=\"{}\" d=\"M0 0h{}v{rows}H0z\"/>",
                hexadecimal(ground),
                self.width
            ));
        }
        for (colour, (_, path)) in runs.iter().filter(|(colour, _)| Some(**colour) != ground) {
            out.push_str(&format!("<path fill=\"{}\" d=\"{path}\"/>", hexadecimal(*colour)));
        }
        out + "</g>\n"
    }
}

fn hexadecimal([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_have_the_colours_of_their_values() {
        let grey = Picture::new([1, 2, 2], [-1.0, 1.0], &[-1.0, -1.0, f32::NAN, 9.0]);
        assert_eq!(grey.colours, [[0; 3], [0; 3], [0; 3], [255; 3]]);
        let colour = Picture::new([3, 1, 1], [0.0, 1.0], &[1.0, 0.0, 0.2]);
        assert_eq!(colour.colours, [[255, 0, 51]]);
        let drawn = grey.drawn((10.0, 20.0), (8.0, 8.0));
        assert!(drawn.contains("translate(10 20) scale(4.0000 4.0000)"), "{drawn}");
        assert!(drawn.contains("<path fill=\"#000000\" d=\"M0 0h2v2H0z\"/>"), "{drawn}");
        assert!(drawn.contains("<path fill=\"#ffffff\" d=\"M1 1h1v1h-1z\"/>"), "{drawn}");
    }
}
