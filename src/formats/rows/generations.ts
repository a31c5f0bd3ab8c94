import { endpoint, type FormatRow } from './row.ts'

export const generations: FormatRow = {
  name: { en: 'Video generations', zh: 'Video generations（视频生成）', short: 'Generations' },
  callers: ['video'],
  endpoints: [endpoint('/video/generations', 'prompt')],
  otherPaths: /^\/v1\/video\//,
}
