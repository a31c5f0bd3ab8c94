import type { Format } from '../canonical/node.ts'
import type { Reader } from './reader.ts'

/** Every format the gateway can read, a row each. */
export const READERS: { readonly [format: Format]: Reader } = {}
