import type { Request } from '../../api/types.ts'

/** Fields of a running request. */
export type Running = Pick<
  Request,
  'id' | 'at' | 'key' | 'key_name' | 'group' | 'model' | 'door' | 'format' | 'stream'
> & {
  readonly captured: boolean
  readonly running: true
}

/** Row of the list: a finished or a running request. */
export type Row = Request | Running

/** Returns true for a running request. */
export const isRunning = (row: Row): row is Running => 'running' in row
