import type { Key, Model } from '../../api/types.ts'
import { type Client, FORMATS, type Format } from './clients/client.ts'

/** Removes slashes at the end. */
const trimmed = (address: string): string => address.replace(/\/+$/, '')

/** Addresses of the gateway: the public URLs, with the one of this page first. Without any, this page's origin. */
export function addressesOf(publicUrls: readonly string[], origin: string): readonly [string, ...string[]] {
  const named = publicUrls.map(trimmed)
  const isHere = (address: string): boolean => new URL(address).origin === origin
  const [first = origin, ...others] = [...named.filter(isHere), ...named.filter(one => !isHere(one))]
  return [first, ...others]
}

/** Default key: the one used last, or created last. */
export const usualKey = (keys: readonly Key[]): Key | undefined =>
  keys.toSorted((one, other) => lastOf(other).localeCompare(lastOf(one)))[0]

const lastOf = ({ last_used_at, created_at }: Key): string => last_used_at ?? created_at ?? ''

/** Formats that callers can use for a model, with the upstream's formats first. */
export const formatsOf = ({ native, translated }: Model): readonly Format[] =>
  [...native, ...translated].filter((one): one is Format => (FORMATS as readonly string[]).includes(one))

/** Default model: of those available now, the one with the most native formats. */
export function usualModel(models: readonly Model[]): Model | undefined {
  const able = models.filter(({ channels }) => channels.some(({ state }) => state === 'ok'))
  const breadth = ({ native }: Model): number =>
    native.filter(one => (FORMATS as readonly string[]).includes(one)).length
  return (able.length === 0 ? models : able).toSorted((one, other) => breadth(other) - breadth(one))[0]
}

/** Default format of a client for a model: the model's interface type, a native format, or any possible one. */
export function usualFormat({ formats }: Client, model: Model | undefined): Format {
  const possible = model === undefined ? [] : formatsOf(model)
  const preferred = formats.find(one => one === model?.interface)
  const native = formats.find(one => model?.native.includes(one))
  return preferred ?? native ?? formats.find(one => possible.includes(one)) ?? formats[0]!
}

/** The path of requests for a model in a format: passed on, translated, or not possible. */
export function wayTo(model: Model, format: Format): 'native' | 'translated' | 'none' {
  if (model.native.includes(format)) return 'native'
  return model.translated.includes(format) ? 'translated' : 'none'
}
