import type { Format } from '../../format.ts'
import { readSse } from '../../sse.ts'

/**
 * Returns events if the request asks for them with `alt=sse`, and otherwise one JSON list, as Google does. Source:
 * https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent
 */
export const adaptStream: NonNullable<Format['adaptStream']> = (stream, { path }) =>
  /[?&](\$?alt|%24alt)=sse(&|$)/.test(path)
    ? { type: 'text/event-stream; charset=utf-8', bytes: stream }
    : {
        type: 'application/json; charset=UTF-8',
        bytes: Buffer.from(
          `[${readSse(stream)
            .events.map(({ data }) => data)
            .join(',\r\n')}]`,
        ),
      }
