import type { Signature } from '../../canonical/content.ts'
import { isObject, type JsonObject, parseJson } from '../../canonical/node.ts'
import { FORMAT } from './content.ts'

/**
 * Returns the `reasoning_details` that a chat upstream issued as the signature of its reasoning, or undefined for any
 * other signature (docs/wire/chat.md#beyond-the-description).
 */
export function detailsIn(signature: Signature | undefined): readonly JsonObject[] | undefined {
  if (signature?.format !== FORMAT) return undefined
  const details = parseJson(signature.value)
  return Array.isArray(details) && details.length > 0 && details.every(isObject) ? details : undefined
}
