import { WRITERS } from '../egress/index.ts'
import type { EventWriter, OwnEventWriter } from '../egress/writer.ts'
import type { Attempt } from './types.ts'

/** What writes an answer's events in the caller's format. */
export const eventWriter = ({ call, request, echo }: Attempt): EventWriter =>
  WRITERS[call.format]!.events!(echo?.request ?? request)

/** The same for events of the caller's own format; undefined where such are written anew, too. */
export const ownEventWriter = ({ call, request, echo }: Attempt): OwnEventWriter | undefined =>
  WRITERS[call.format]!.ownEvents?.(echo?.request ?? request)
