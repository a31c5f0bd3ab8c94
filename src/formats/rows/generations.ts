import { endpoint, type FormatRow } from './row.ts'

export const generations: FormatRow = {
  callers: ['video'],
  endpoints: [endpoint('/video/generations', 'prompt')],
  otherPaths: /^\/v1\/video\//,
}
