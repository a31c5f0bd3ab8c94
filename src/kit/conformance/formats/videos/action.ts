/* Actions of the video endpoints. Source: https://platform.openai.com/docs/api-reference/videos */

export type VideoAction = 'create' | 'list' | 'retrieve' | 'delete' | 'content' | 'remix'

const ACTIONS: readonly (readonly [method: string, path: RegExp, action: VideoAction])[] = [
  ['POST', /^\/videos$/, 'create'],
  ['GET', /^\/videos(?:\?.*)?$/, 'list'],
  ['GET', /^\/videos\/[^/?]*(?:\?.*)?$/, 'retrieve'],
  ['DELETE', /^\/videos\/[^/?]*$/, 'delete'],
  ['GET', /^\/videos\/[^/?]*\/content(?:\?.*)?$/, 'content'],
  ['POST', /^\/videos\/[^/?]*\/remix$/, 'remix'],
]

/** Returns the action of a request, or undefined for paths of other endpoints. */
export const actionOf = (method: string, path: string): VideoAction | undefined =>
  ACTIONS.find(([known, pattern]) => known === method && pattern.test(path))?.[2]

/** Decodes a path segment. An invalid escape sequence stays unchanged. */
function decodeSegment(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** Returns the id of the video in a path. */
export function videoIn(path: string): string | undefined {
  const [, id] = /^\/videos\/([^/?]+)/.exec(path) ?? []
  return id === undefined ? undefined : decodeSegment(id)
}
