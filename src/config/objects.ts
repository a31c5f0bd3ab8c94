import * as v from 'valibot'

/* Object schemas that, unlike valibot's, reject arrays and report every unknown key instead of only the first. */

/** Maximum number of unknown keys reported for one object. */
const MAX_REPORTED = 50

/** Creates a schema for objects that have exactly these entries. */
export function strictFields<E extends v.ObjectEntries, M extends v.ErrorMessage<v.StrictObjectIssue>>(
  entries: E,
  message: M,
): v.StrictObjectSchema<E, M> {
  const schema = v.strictObject(entries, message)
  return rejectingArrays({
    ...schema,
    '~run'(dataset, config) {
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
  })
}

/** Creates a schema for objects with arbitrary keys and one schema for all values. */
export const record = <
  K extends v.BaseSchema<string, string | number | symbol, v.BaseIssue<unknown>>,
  V extends v.GenericSchema,
  M extends v.ErrorMessage<v.RecordIssue>,
>(
  key: K,
  value: V,
  message: M,
): v.RecordSchema<K, V, M> => rejectingArrays(v.record(key, value, message))

function unknownKeys(input: unknown, entries: object): string[] {
  if (typeof input !== 'object' || input === null) return []
  const found: string[] = []
  for (const key in input) if (!Object.hasOwn(entries, key) && found.push(key) === MAX_REPORTED) break
  return found
}

/** Wraps a schema so that an array is a type error. */
const rejectingArrays = <S extends v.GenericSchema>(schema: S): S => ({
  ...schema,
  '~run'(dataset, config) {
    if (!Array.isArray(dataset.value)) return schema['~run'](dataset, config)
    v._addIssue(this as never, 'type', dataset as never, config)
    return dataset as never
  },
})
