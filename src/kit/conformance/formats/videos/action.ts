/* What requests to the video endpoints ask for. Source: https://platform.openai.com/docs/api-reference/videos */

export type VideoAction = 'create' | 'list' | 'retrieve' | 'delete' | 'content' | 'remix'

const ACTIONS: readonly (readonly [method: string, path: RegExp, action: VideoAction])[] = [
  ['POST', /^\/videos$/, 'create'],
  ['GET', /^\/videos(?:\?.*)?$/, 'list'],
  ['GET', /^\/videos\/[^/?]*(?:\?.*)?$/, 'retrieve'],
  ['DELETE', /^\/videos\/[^/?]*$/, 'delete'],
  ['GET', /^\/videos\/[^/?]*\/content(?:\?.*)?$/, 'content'],
  ['POST', /^\/videos\/[^/?]*\/remix$/, 'remix'],
]

/** The action of a request; `undefined` where the path is none of these endpoints. */
export const actionOf = (method: string, path: string): VideoAction | undefined =>
  ACTIONS.find(([known, pattern]) => known === method && pattern.test(path))?.[2]

/** Decodes a part of a path; a broken escape stays as it is. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** The video that a path names. */
export function videoIn(path: string): string | undefined {
  const [, id] = /^\/videos\/([^/?]+)/.exec(path) ?? []
  return id === undefined ? undefined : decoded(id)
}
