/** Choices of matrix mechanisms (DP-FTRL) that the app and the calculators share. */

export const STRATEGIES = [
  ["identity", "Independent noise"],
  ["tree", "Binary tree"],
  ["banded-square-root", "Banded square root"],
  ["banded-optimised", "Banded, optimised"],
  ["blt", "Buffered Toeplitz (BLT)"],
] as const;

export const PARTICIPATIONS = [
  ["single", "One step"],
  ["epochs", "Every epoch, in one order"],
  ["shuffled", "Every epoch, in any order"],
  ["min-separation", "Minimum separation"],
] as const;
