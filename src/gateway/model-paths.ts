import type { Format } from '../canonical/node.ts'
import { percentDecoded } from '../canonical/text.ts'
import { EXTRA_BODY, MODEL_FIELDS } from '../formats/model-fields.ts'
import type { ModelFields } from '../formats/rows/row.ts'

/**
 * Role of a model name in a body: the requested model, an additional or alternative model, or a helper such as a voice
 * session's transcriber.
 */
export type NameKind = 'requested' | 'other' | 'helper'

const HOSTED_PREFIX = 'hosted:'

/**
 * A tree of the paths at which a format's body names models. Each node leads to fields and list items, or marks a value
 * that is a model name.
 */
export class ModelPaths {
  readonly fields = new Map<string, ModelPaths>()
  /** Node for the items of a list, and for a single value in place of the list. */
  items: ModelPaths | undefined
  /** Role of the model name, or undefined if the value is not a model name. */
  kind: NameKind | undefined
  /** True if the field names a model only in hosted tools. In other tools it is ordinary content. */
  isHosted = false
  /** True if the value may be JSON encoded as a string. */
  isText = false
  private caseInsensitive: RegExp | undefined
  private lengthMask = 0

  constructor() {
    // An upstream in JavaScript may merge `__proto__` into the object.
    this.fields.set('__proto__', this)
  }

  /** Adds a path, written as in `ModelFields`. */
  add([step, ...rest]: readonly string[], kind: NameKind): this {
    if (step === undefined) this.kind = kind
    else if (step === '*') (this.items ??= new ModelPaths()).add(rest, kind)
    else
      for (const name of step.split('|')) {
        const isHosted = name.startsWith(HOSTED_PREFIX)
        const field = isHosted ? name.slice(HOSTED_PREFIX.length) : name
        const next = this.fields.getOrInsertComputed(field, () => new ModelPaths())
        next.isHosted = isHosted
        next.add(rest, kind)
      }
    return this
  }

  addAll(paths: readonly string[], kind: NameKind): this {
    for (const path of paths) this.add(path.split('.'), kind)
    return this
  }

  /**
   * Returns true if a field differs from a known one only in case. Go's `encoding/json` ignores case, and even matches
   * `\u017f` with `s` and the Kelvin sign with `k`.
   */
  isMiscased(field: string): boolean {
    if (this.caseInsensitive === undefined) {
      const names = [...this.fields.keys()]
      this.caseInsensitive = new RegExp(`^(?:${names.map(name => RegExp.escape(name)).join('|')})$`, 'iu')
      // A field's length does not depend on its case, so a bit mask of lengths rules out most other fields.
      for (const { length } of names) this.lengthMask |= 1 << length
    }
    return ((this.lengthMask >>> field.length) & 1) === 1 && !this.fields.has(field) && this.caseInsensitive.test(field)
  }
}

/**
 * Paths of a body, and paths of an object that overrides fields of the body: an `extra_body`, or a fallback with its
 * own settings.
 */
export interface BodyPaths {
  readonly body: ModelPaths
  readonly overrides: ModelPaths
}

const pathsByFormat = new Map<Format, BodyPaths>()

/** Returns the model paths of a format. A format without a row has only the field `model`. */
export const pathsOf = (format: Format): BodyPaths =>
  pathsByFormat.getOrInsertComputed(format, () => compile(MODEL_FIELDS.get(format) ?? DEFAULT_FIELDS))

const DEFAULT_FIELDS: ModelFields = { requested: ['model'], others: [], helpers: [] }

function compile({ requested, others, helpers }: ModelFields): BodyPaths {
  const overrides = new ModelPaths().addAll(['model', 'models.*', ...others], 'other').addAll(helpers, 'helper')
  overrides.isText = true
  overrides.fields.set(EXTRA_BODY, overrides)
  const body = new ModelPaths().addAll(requested, 'requested').addAll(others, 'other').addAll(helpers, 'helper')
  body.fields.set(EXTRA_BODY, overrides)
  return { body, overrides }
}

/** Matches a field name that is not a path. */
const PLAIN_NAME = /^\w*$/

/** Characters that a lenient server drops from field names. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are dropped
const INVISIBLE_CHARACTERS = /[\s\u0000-\u001f\u007f]+/g

/**
 * Resolves a field name that is a path, as forms write them: `extra_body[model]`, `fallbacks[0].model`, `model[]`, also
 * percent-encoded.
 *
 * @returns undefined if the field names no model; `misspelled` if servers disagree on whether it does.
 */
export function pathsAt(name: string, { body, overrides }: BodyPaths): ModelPaths | 'misspelled' | undefined {
  if (PLAIN_NAME.test(name)) return body.isMiscased(name) ? 'misspelled' : body.fields.get(name)
  const steps = percentDecoded(name).replace(INVISIBLE_CHARACTERS, '').replaceAll(']', '').split(/[[.]/)
  let at = body
  for (const step of steps) {
    if (at.kind === 'requested') return 'misspelled'
    if (step === '' || /^\d+$/.test(step)) {
      at = at.items ?? at
      continue
    }
    if (at.items !== undefined && !at.fields.has(step)) at = at.items
    const fields = at.kind === undefined ? at : overrides
    if (fields.isMiscased(step)) return 'misspelled'
    const next = fields.fields.get(step)
    // An unknown step inside fallbacks is a model name. The next level contains that model's fallbacks.
    if (next === undefined && at.kind === undefined) return undefined
    at = next ?? at
  }
  return at === body ? undefined : at.kind === 'requested' ? 'misspelled' : at
}
