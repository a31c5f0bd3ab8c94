import type { Json, JsonObject } from '../canonical/node.ts'
import type { CanonicalRequest, Output, Sampling } from '../canonical/request.ts'
import type { SettingName, SettingNode, Settings, SettingType } from '../canonical/settings.ts'
import { count, flag, number, object, text } from './fields.ts'

/** Settings of a request, grouped by their canonical node. */
export interface ReadSettings {
  readonly sampling: Pick<Sampling, SettingName & keyof Sampling>
  readonly output: Pick<Output, SettingName & keyof Output>
  readonly request: Pick<CanonicalRequest, SettingName & keyof CanonicalRequest>
}

const READERS: { readonly [T in SettingType]: (value: Json) => Json | undefined } = {
  number,
  count,
  flag,
  text,
  object,
}

/**
 * Reads the settings of a body. Absent and null fields are skipped.
 *
 * @throws WrongType if a value has the wrong type.
 */
export function readSettings({ read }: Settings, body: JsonObject): ReadSettings {
  const nodes: { readonly [at in SettingNode]: { [field: string]: Json | undefined } } = {
    sampling: {},
    output: {},
    request: {},
  }
  for (const { at, field, wire, type } of read) {
    const value = body[wire]
    if (value !== undefined && value !== null) nodes[at][field] = READERS[type](value)
  }
  return nodes
}
