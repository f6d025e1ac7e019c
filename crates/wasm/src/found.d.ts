/** Rates of the attack, by rising fpr. */
export interface CurveColumns {
  fpr: Float64Array;
  fnr: Float64Array;
}

/** A curve with the staircases between which the whole of it lies, where there is a bound. */
export interface AuditCurve extends CurveColumns {
  band?: { most: CurveColumns; least: CurveColumns };
}
