import * as v from 'valibot'

/** Unknown keys of one object that are reported. */
const MOST = 50

/**
 * An object of exactly these entries. Unlike `v.strictObject`, it reports every unknown key, and not only the first, and
 * a list is no object.
 */
export function strictFields<E extends v.ObjectEntries, M extends v.ErrorMessage<v.StrictObjectIssue>>(
  entries: E,
  message: M,
): v.StrictObjectSchema<E, M> {
  const schema = v.strictObject(entries, message)
  return {
    ...schema,
    '~run'(dataset, config) {
      if (Array.isArray(dataset.value)) {
        v._addIssue(this as never, 'type', dataset as never, config)
        return dataset as never
      }
      const input = dataset.value as { readonly [key: string]: unknown }
      const checked = schema['~run'](dataset, config)
      const [, ...more] = unknownKeys(input, entries)
      for (const key of more)
        v._addIssue(this as never, 'key', checked, config, {
          ...{ input: key, expected: 'never' },
          path: [{ type: 'object', origin: 'key', input, key, value: input[key] }],
        })
      return checked
    },
  }
}

function unknownKeys(input: unknown, entries: object): string[] {
  if (typeof input !== 'object' || input === null) return []
  const found: string[] = []
  for (const key in input) if (!Object.hasOwn(entries, key) && found.push(key) === MOST) break
  return found
}
