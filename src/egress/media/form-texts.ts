import type { Losses } from '../../canonical/loss.ts'
import type { Format, JsonObject } from '../../canonical/node.ts'
import type { CanonicalRequest } from '../../canonical/request.ts'

/**
 * Writes a body as form fields, which are strings or lists of strings. Reports extras that are any other JSON value as
 * changed, because readers get strings back.
 */
export function formFields(body: object, { extras }: CanonicalRequest, format: Format, losses: Losses): JsonObject {
  const entries = Object.entries(body).filter(([, value]) => value != null)
  return Object.fromEntries(
    entries.map(([field, value]) => {
      if (isText(value)) return [field, value]
      const text = JSON.stringify(value)
      if (extras?.[format]?.[field] !== undefined)
        losses.change(['extras', format, field], text, 'forms-have-texts-alone')
      return [field, text]
    }),
  )
}

const isText = (value: unknown): boolean =>
  typeof value === 'string' || (Array.isArray(value) && value.every(one => typeof one === 'string'))
