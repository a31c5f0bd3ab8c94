import type { Format } from '../canonical/node.ts'
import { percentDecoded } from '../canonical/text.ts'
import { EXTRA_BODY, MODEL_FIELDS, type ModelFields } from '../formats/model-fields.ts'

/** What the name at the end of a path is for. */
export type NameKind = 'requested' | 'other' | 'helper'

const HOSTED = 'hosted:'

/** The paths of a format from one value on: what its fields or items lead to, or that it names a model. */
export class ModelPaths {
  readonly fields = new Map<string, ModelPaths>()
  /** Of the items of a list, which may also be a single value without a list. */
  items: ModelPaths | undefined
  /** Set where the value names a model. */
  kind: NameKind | undefined
  /** Only tools that the upstream runs have it; in others it is content. */
  isHosted = false
  /** The value may be a JSON text. */
  isText = false
  private anyCase: RegExp | undefined
  private lengths = 0

  constructor() {
    // Upstreams in JavaScript may merge it into the object.
    this.fields.set('__proto__', this)
  }

  /** Adds a path; steps and spellings as in `ModelFields`. */
  add([step, ...rest]: readonly string[], kind: NameKind): this {
    if (step === undefined) this.kind = kind
    else if (step === '*') (this.items ??= new ModelPaths()).add(rest, kind)
    else
      for (const name of step.split('|')) {
        const isHosted = name.startsWith(HOSTED)
        const field = isHosted ? name.slice(HOSTED.length) : name
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
   * Whether a field differs from one of the paths only in case. Go's `encoding/json` takes it for the same: `\u017f` is an s,
   * the Kelvin sign a k.
   */
  isMiscased(field: string): boolean {
    if (this.anyCase === undefined) {
      const names = [...this.fields.keys()]
      this.anyCase = new RegExp(`^(?:${names.map(name => RegExp.escape(name)).join('|')})$`, 'iu')
      // A field has the same length in any case, so that few others need to be matched.
      for (const { length } of names) this.lengths |= 1 << length
    }
    return ((this.lengths >>> field.length) & 1) === 1 && !this.fields.has(field) && this.anyCase.test(field)
  }
}

/** The paths of a body, and of an object that replaces fields of it: an `extra_body`, or a fallback with settings. */
export interface BodyPaths {
  readonly body: ModelPaths
  readonly replacing: ModelPaths
}

const compiled = new Map<Format, BodyPaths>()

/** The paths of a format's bodies; of a format without a row, the field `model` alone. */
export const pathsOf = (format: Format): BodyPaths =>
  compiled.getOrInsertComputed(format, () => compile(MODEL_FIELDS.get(format) ?? UNLISTED))

const UNLISTED: ModelFields = { requested: ['model'], others: [], helpers: [] }

function compile({ requested, others, helpers }: ModelFields): BodyPaths {
  const replacing = new ModelPaths().addAll(['model', 'models.*', ...others], 'other').addAll(helpers, 'helper')
  replacing.isText = true
  replacing.fields.set(EXTRA_BODY, replacing)
  const body = new ModelPaths().addAll(requested, 'requested').addAll(others, 'other').addAll(helpers, 'helper')
  body.fields.set(EXTRA_BODY, replacing)
  return { body, replacing }
}

/** A field name that is no path. */
const PLAIN = /^\w*$/

/** What a lenient server drops from a field's name. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are dropped
const INVISIBLE = /[\s\u0000-\u001f\u007f]+/g

/**
 * Where a field leads whose name is a path, as forms have them: `extra_body[model]`, `fallbacks[0].model`, `model[]`, also
 * percent-encoded.
 *
 * @returns undefined where it names no model; `misspelled` where servers differ in whether it does.
 */
export function pathsAt(name: string, { body, replacing }: BodyPaths): ModelPaths | 'misspelled' | undefined {
  if (PLAIN.test(name)) return body.isMiscased(name) ? 'misspelled' : body.fields.get(name)
  const steps = percentDecoded(name).replace(INVISIBLE, '').replaceAll(']', '').split(/[[.]/)
  let at = body
  for (const step of steps) {
    if (at.kind === 'requested') return 'misspelled'
    if (step === '' || /^\d+$/.test(step)) {
      at = at.items ?? at
      continue
    }
    if (at.items !== undefined && !at.fields.has(step)) at = at.items
    const fields = at.kind === undefined ? at : replacing
    if (fields.isMiscased(step)) return 'misspelled'
    const next = fields.fields.get(step)
    // A step that is no field of a fallback is a model whose fallbacks follow.
    if (next === undefined && at.kind === undefined) return undefined
    at = next ?? at
  }
  return at === body ? undefined : at.kind === 'requested' ? 'misspelled' : at
}
