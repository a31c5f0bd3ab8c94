import type { Key, Model } from '../../api/types.ts'
import { type Client, FORMATS, type Format } from './clients/client.ts'

/* What is chosen where nobody has chosen yet, and what can be chosen at all. */

/** Without slashes at the end. */
const trimmed = (address: string): string => address.replace(/\/+$/, '')

/** The addresses of the gateway: those its operator names, first the one that this page is at; or this page's own. */
export function addressesOf(publicUrls: readonly string[], origin: string): readonly [string, ...string[]] {
  const named = publicUrls.map(trimmed)
  const isHere = (address: string): boolean => new URL(address).origin === origin
  const [first = origin, ...others] = [...named.filter(isHere), ...named.filter(one => !isHere(one))]
  return [first, ...others]
}

/** The key that was used last, or else made last. */
export const usualKey = (keys: readonly Key[]): Key | undefined =>
  keys.toSorted((one, other) => lastOf(other).localeCompare(lastOf(one)))[0]

const lastOf = ({ last_used_at, created_at }: Key): string => last_used_at ?? created_at ?? ''

/** The formats that callers can use for a model, those its upstream speaks first. */
export const formatsOf = ({ native, translated }: Model): readonly Format[] =>
  [...native, ...translated].filter((one): one is Format => (FORMATS as readonly string[]).includes(one))

/** The model that the most clients can use as it is, of those that can be used now. */
export function usualModel(models: readonly Model[]): Model | undefined {
  const able = models.filter(({ channels }) => channels.some(({ state }) => state === 'ok'))
  const breadth = ({ native }: Model): number =>
    native.filter(one => (FORMATS as readonly string[]).includes(one)).length
  return (able.length === 0 ? models : able).toSorted((one, other) => breadth(other) - breadth(one))[0]
}

/** What a client should speak to a model: as the model is served, or else whatever is possible. */
export function usualFormat({ formats }: Client, model: Model | undefined): Format {
  const possible = model === undefined ? [] : formatsOf(model)
  const preferred = formats.find(one => one === model?.interface)
  const native = formats.find(one => model?.native.includes(one))
  return preferred ?? native ?? formats.find(one => possible.includes(one)) ?? formats[0]!
}

/** How a model is reached in a format. */
export function wayTo(model: Model, format: Format): 'native' | 'translated' | 'none' {
  if (model.native.includes(format)) return 'native'
  return model.translated.includes(format) ? 'translated' : 'none'
}
