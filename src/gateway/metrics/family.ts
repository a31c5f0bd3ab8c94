/** A value of a metric, with its labels; `metricName` where it is not the family's, as for buckets. */
export interface Sample {
  readonly labels: { readonly [name: string]: string | number }
  /** Further labels that many samples have in common. */
  readonly sharedLabels?: Sample['labels']
  readonly value: number
  readonly metricName?: string
}

/** A metric as prom-client has it: its name, and its value for every set of labels. */
export interface Family {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  /** How the values of several processes become one. */
  readonly aggregator: 'sum' | 'max' | 'min' | 'average'
  readonly values: readonly Sample[]
}
