import { sanitizeName } from '../../egress/sanitize/names.ts'

/** The narrowest rule for ids of calls in callers' formats; applied twice, an id stays as it is (trap 46). */
const LONGEST_ID = 64

/** The key of a call by its id: the same for the id as the upstream made it and as a caller got it. */
export const idKey = (id: string): string => `id ${sanitizeName(id, LONGEST_ID)}`

/** The key of a call by its place: what stands before it, and the call itself (`GistTrail`). */
export const placeKey = (digest: string): string => `at ${digest}`
export const isPlaceKey = (key: string): boolean => key.startsWith('at ')

const COUNTED = /^(?:[a-z]+[^a-z0-9]+)*\d{0,4}[^a-z0-9]*$/i

/**
 * Whether an id only numbers the calls of its conversation, so that others have the same: `call_0_get_time`, which
 * is made where a caller leaves it out, `functions.get_time:0` of Kimi, `call_0`, the bare name of calls before tools.
 */
export const isCounted = (id: string, name: string): boolean => COUNTED.test(id.replace(name, ''))
