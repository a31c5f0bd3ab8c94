import type { IncomingMessage } from 'node:http'
import type { Caller } from '../access/index.ts'
import type { OnLoss } from '../config/index.ts'

/** Whether losses are shown or refused: as the request's own header states, else as its key does. */
export const onLossOf = ({ headers }: Pick<IncomingMessage, 'headers'>, { permissions }: Caller): OnLoss =>
  headers['interlingua-on-loss'] === 'refuse' ? 'refuse' : permissions.onLoss
