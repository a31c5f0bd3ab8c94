/** One value of a metric with its labels. Histogram buckets need `metricName`, which overrides the family's name. */
export interface Sample {
  readonly labels: { readonly [name: string]: string | number }
  /** Labels shared by many samples. */
  readonly sharedLabels?: Sample['labels']
  readonly value: number
  readonly metricName?: string
}

/** A metric in prom-client's form: name, help, type and one value per set of labels. */
export interface Family {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  /** Function that merges the values of several processes. */
  readonly aggregator: 'sum' | 'max' | 'min' | 'average'
  readonly values: readonly Sample[]
}
