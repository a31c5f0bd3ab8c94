import { existsSync, readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { narrowed, type Schema, type Schemas } from './narrowed.ts'

/** Folder of the published descriptions, which are no part of this project. */
export const HOME = '../shared/specs'

interface Options {
  /**
   * Whether fields that the description does not name are faults. They are in requests, which upstreams refuse for
   * them.
   */
  readonly closed?: boolean
}

/** A published description of a format, as far as it states which values are valid. */
export class Description {
  readonly schemas: Schemas
  private readonly ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false, inlineRefs: false })

  constructor(file: string, { closed = false }: Options = {}) {
    const text = existsSync(file) ? readFileSync(file, 'utf8') : '{"components":{"schemas":{}}}'
    const { components } = JSON.parse(text) as { readonly components: { readonly schemas: Schemas } }
    this.schemas = components.schemas
    this.ajv.addSchema({ components: { schemas: narrowed(components.schemas, closed) } as Schema }, 'description')
  }

  /** Returns the faults of a value by the schema of that name, one per line. Indexes of lists are `#`. */
  faults(name: string, value: unknown): readonly string[] {
    const validate = this.ajv.getSchema(`description#/components/schemas/${name}`)
    if (validate === undefined) throw new Error(`There is no schema ${name}.`)
    if (validate(value)) return []
    const told = validate.errors!.filter(({ keyword }) => keyword !== 'if' && keyword !== 'anyOf')
    return (told.length > 0 ? told : validate.errors!).map(
      ({ instancePath, message, params }) =>
        `${instancePath.replace(/\/\d+(?=\/|$)/g, '/#')} ${message} ${JSON.stringify(params).slice(0, 300)}`,
    )
  }
}
