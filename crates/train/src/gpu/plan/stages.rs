//! The kernels of each stage of a training.

/// One list per stage. A step is passes of `choose` and `pass`, `release`, passes of `observe`, and
/// `finish`.
#[derive(Debug, Clone)]
pub struct Stages<T> {
    /// Before the first step: parameters, canaries.
    pub begin: Vec<T>,
    /// The rows of a pass; empty if the host selects them.
    pub choose: Vec<T>,
    /// The sum of the clipped gradients over the rows of a pass.
    pub pass: Vec<T>,
    /// Noise, where the noisy sum is observed before it is used.
    pub release: Vec<T>,
    /// What a noisy sum shows of each canary of a pass.
    pub observe: Vec<T>,
    /// Update of the parameters, and what remains of the step.
    pub finish: Vec<T>,
    /// After the last step: losses of the records of a pass.
    pub evaluate: Vec<T>,
}

impl<T> Default for Stages<T> {
    fn default() -> Self {
        let [begin, choose, pass, release, observe, finish, evaluate] =
            std::array::from_fn(|_| Vec::new());
        Stages { begin, choose, pass, release, observe, finish, evaluate }
    }
}

impl<T> Stages<T> {
    fn lists(&self) -> [&Vec<T>; 7] {
        let Stages { begin, choose, pass, release, observe, finish, evaluate } = self;
        [begin, choose, pass, release, observe, finish, evaluate]
    }

    /// Every kernel.
    pub fn all(&self) -> impl Iterator<Item = &T> {
        self.lists().into_iter().flatten()
    }

    /// The results of a function of each list.
    ///
    /// # Errors
    /// The first error of `map`.
    pub async fn try_map<U, E>(
        &self,
        map: impl AsyncFn(&[T]) -> Result<Vec<U>, E>,
    ) -> Result<Stages<U>, E> {
        Ok(Stages {
            begin: map(&self.begin).await?,
            choose: map(&self.choose).await?,
            pass: map(&self.pass).await?,
            release: map(&self.release).await?,
            observe: map(&self.observe).await?,
            finish: map(&self.finish).await?,
            evaluate: map(&self.evaluate).await?,
        })
    }
}
