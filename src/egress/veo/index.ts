import type { TaskWriter } from '../task-writer.ts'
import type { Writer } from '../writer.ts'
import { isAtGoogle } from './media.ts'
import { writeRequest } from './request.ts'

const NO_EXTRAS = { query: {}, headers: {} } as const

/** Matches a download URL on any host. `path` captures the API version and the file, without the base URL. */
const DOWNLOAD_URL =
  /^https?:\/\/[^/?#]+\/(?:[^?#]*\/)?(?<path>v\d\w*\/files\/[\w-]+:download)\?(?:[^#]*&)?alt=media(?:[&#]|$)/

/**
 * Status and download requests. A download needs the upstream's API key, which must never be sent to another host, so
 * its URL is converted to a path below the channel's base URL (trap 84).
 */
const tasks: TaskWriter = {
  status: ({ id }) => ({
    method: 'GET',
    path: `/v1beta/${id.split('/').map(encodeURIComponent).join('/')}`,
    ...NO_EXTRAS,
  }),
  content: ({ files }, variant) => {
    const url = files?.find(file => file.variant === variant)?.url
    const path = url === undefined ? undefined : DOWNLOAD_URL.exec(url)?.groups?.['path']
    if (path !== undefined) return { method: 'GET', path: `/${path}`, query: { alt: 'media' }, headers: {} }
    return url !== undefined && /^https?:\/\//i.test(url) ? { url } : undefined
  },
}

/** The writer for Google's Veo, which generates videos in long-running operations. */
export const veo: Writer = {
  request: writeRequest,
  tasks,
  mustFetch: part => !isAtGoogle(part),
}
