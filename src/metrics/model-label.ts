import type { Config } from '../config/index.ts'
import type { UsageRow } from '../usage/row.ts'

/** The label of values beyond those that have labels of their own, and of values there are none of. */
export const OTHER = 'other'
export const NONE = 'none'

/** Models that channels take by pattern and that have labels of their own. */
const MOST = 100
/** Characters of such a model: it is in every line of a page that is about it. */
const LONGEST = 100

/**
 * The model of a request as a label. Callers write names of models, so only those are told apart that the config names,
 * and some that an upstream answered with success.
 */
export class ModelLabels {
  private known: ReadonlySet<string> = new Set()
  private readonly met = new Set<string>()

  constructor(config: Config) {
    this.reload(config)
  }

  reload({ channels, models }: Config): void {
    this.known = new Set([...models.keys(), ...channels.flatMap(channel => [...channel.models.named.keys()])])
  }

  of({ model, channel, status }: UsageRow): string {
    if (model === undefined) return NONE
    if (this.known.has(model) || this.met.has(model)) return model
    if (channel === undefined || status >= 400 || this.met.size >= MOST || model.length > LONGEST) return OTHER
    this.met.add(model)
    return model
  }
}
