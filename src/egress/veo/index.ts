import type { TaskWriter } from '../task-writer.ts'
import type { Writer } from '../writer.ts'
import { isAtGoogle } from './media.ts'
import { writeRequest } from './request.ts'

const PLAIN = { query: {}, headers: {} } as const

/** Matches a download URL at any host. `path` consists of API version and file, relative to any base URL. */
const DOWNLOAD =
  /^https?:\/\/[^/?#]+\/(?:[^?#]*\/)?(?<path>v\d\w*\/files\/[\w-]+:download)\?(?:[^#]*&)?alt=media(?:[&#]|$)/

/**
 * Requests about operations. Downloads need the upstream's API key. Therefore a download URL is converted to a path
 * below the channel's own base URL, so that the key is not sent anywhere else (trap 84).
 */
const tasks: TaskWriter = {
  status: ({ id }) => ({ method: 'GET', path: `/v1beta/${id.split('/').map(encodeURIComponent).join('/')}`, ...PLAIN }),
  content: ({ files }, variant) => {
    const url = files?.find(file => file.variant === variant)?.url
    const path = url === undefined ? undefined : DOWNLOAD.exec(url)?.groups?.['path']
    if (path !== undefined) return { method: 'GET', path: `/${path}`, query: { alt: 'media' }, headers: {} }
    return url !== undefined && /^https?:\/\//i.test(url) ? { url } : undefined
  },
}

/** The writer for Google's Veo, an upstream that generates videos in long-running operations. */
export const veo: Writer = {
  request: writeRequest,
  tasks,
  mustFetch: part => !isAtGoogle(part),
}
