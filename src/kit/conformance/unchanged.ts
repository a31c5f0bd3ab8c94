import { isObject, type Json, type JsonObject } from './json.ts'

/* Compares whole messages of one format, for fields that no fact states. */

const RULE = { level: 'should', source: 'docs/decisions/2026-11-23-conformance-kit.md' } as const

export const REQUEST_UNCHANGED = {
  ...{ ...RULE, id: 'same-format' },
  says: 'A request for an upstream of the caller’s own format keeps all of its fields.',
} as const
export const SESSION_UNCHANGED = {
  ...{ ...RULE, id: 'same-format' },
  says: 'A session between equal formats keeps all fields of its frames.',
} as const
export const ANSWER_UNCHANGED = {
  ...{ ...RULE, id: 'same-format' },
  says: 'An answer to a caller of the upstream’s own format keeps all of its fields.',
} as const

/** Fields that gateways rightly replace: names of models and of versions, ids and times of answers. */
const OWN_FIELDS =
  /^(id|\w+_id|expires_at|model|modelVersion|responseId|request_id|created|created_at|completed_at|system_fingerprint)$/

/** Maximum number of differences listed. */
const MAX_DIFFERENCES = 5
const MAX_LENGTH = 100

/** Returns true if a value says nothing, so that it may be left out. */
const isEmpty = (value: Json): boolean =>
  value === null || value === '' || (typeof value === 'object' && Object.values(value).every(isEmpty))

const excerpt = (value: Json): string => JSON.stringify(value).slice(0, MAX_LENGTH)

/** Lists the fields of a message that did not arrive as they were sent. Additions do not count. */
export function changesBetween(sent: Json, arrived: Json): string[] {
  const changes: string[] = []
  const visit = (one: Json, other: Json | undefined, path: string): void => {
    if (changes.length >= MAX_DIFFERENCES || isEmpty(one)) return
    if (other === undefined || other === null) changes.push(`${path} is missing: ${excerpt(one)}`)
    else if (typeof one !== 'object' || typeof other !== 'object' || Array.isArray(one) !== Array.isArray(other)) {
      if (one !== other) changes.push(`${path}: ${excerpt(one)} became ${excerpt(other)}`)
    } else {
      if (Array.isArray(one) && one.length !== (other as readonly Json[]).length)
        changes.push(`${path}: ${one.length} items became ${(other as readonly Json[]).length}`)
      for (const [name, inner] of Object.entries(one as Fields))
        if (isObject(one) && OWN_FIELDS.test(name) && typeof inner !== 'object') continue
        else visit(inner, Object.hasOwn(other, name) ? (other as Fields)[name] : undefined, `${path}/${name}`)
    }
  }
  visit(sent, arrived, '')
  return changes
}

type Fields = { readonly [name: string]: Json }

/**
 * Lists the differences between frames by kind: the first of a kind is compared with the first that arrived, and so on.
 *
 * @param optional kinds of frames that may be left out.
 * @param repeatable kinds of which a target may send more. They are compared if there are as many.
 */
export function changesOfFrames(
  sent: readonly JsonObject[],
  arrived: readonly JsonObject[],
  kindOf: (frame: JsonObject) => string,
  optional: ReadonlySet<string>,
  repeatable: ReadonlySet<string>,
): string[] {
  const arrivedByKind = Map.groupBy(arrived, kindOf)
  return [...Map.groupBy(sent, kindOf)]
    .filter(([kind]) => !optional.has(kind))
    .flatMap(([kind, frames]) => {
      const others = arrivedByKind.get(kind) ?? []
      if (others.length !== frames.length)
        return repeatable.has(kind) ? [] : [`${frames.length} frames of ${kind} became ${others.length}.`]
      return frames.flatMap((frame, at) => changesBetween(frame, others[at]!).map(change => `${kind} ${change}`))
    })
    .slice(0, MAX_DIFFERENCES)
}
