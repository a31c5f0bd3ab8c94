import { GatewayError } from '../canonical/error.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import type { WireRequest } from '../canonical/wire.ts'
import { type FormMeters, readForm } from '../ingress/transport/form.ts'
import type { Session } from '../stored/session.ts'
import type { Call } from './call.ts'
import { TrailingFields } from './trailing-fields.ts'

/** What a caller asks, and what of it is still to come. */
export interface ReadRequest {
  readonly request: CanonicalRequest
  readonly late?: TrailingFields | undefined
  /** What it builds on and leaves behind, where its format has such a thing. */
  readonly session?: Session | undefined
  /** Nobody will read more of the body. */
  drop?(): void
}

/**
 * Whether the body is a form.
 *
 * @throws GatewayError `invalid-request` where the endpoint takes only the other kind.
 */
export function isForm({ message, form }: Call): boolean {
  const type = message.headers['content-type']
  const is = type !== undefined && /^\s*multipart\/form-data\b/i.test(type)
  if (is && form === undefined) throw wrong('This endpoint takes a JSON body, not a form.')
  if (!is && form?.only === true) throw wrong('This endpoint takes a form (`multipart/form-data`).')
  return is
}

/** Whether a file flowed through, which can be sent once. */
export const isSpent = ({ request }: ReadRequest): boolean =>
  request.messages.some(({ content }) =>
    content.some(part => part.type === 'media' && part.source.type === 'bytes' && part.source.bytes.begun === true),
  )

/** How a form becomes a request. */
export interface FormRules {
  /** Bytes it may have. */
  readonly limit: number
  readonly meters: FormMeters
  read(wire: WireRequest): CanonicalRequest
  /** Whether the request may be sent before the form is whole. */
  flows(request: CanonicalRequest): boolean
}

/** A form as a request; one whose large file flows through is asked before it is whole. */
export async function readFormRequest(call: Call, { limit, meters, read, flows }: FormRules): Promise<ReadRequest> {
  const { needs } = call.form!
  const form = await readForm(
    call.message,
    limit,
    (body, files) => body[needs] !== undefined && enough(() => flows(read(begun(call.wire(body, files))))),
    meters,
  )
  try {
    const wire = call.wire(form.body, form.files)
    const request = read(form.whole === undefined ? wire : begun(wire))
    const late =
      form.whole === undefined
        ? undefined
        : new TrailingFields(form.whole.then(({ body, files }) => read(call.wire(body, files))))
    return { request, late, drop: form.drop }
  } catch (thrown) {
    form.drop()
    throw thrown
  }
}

const begun = (wire: WireRequest): WireRequest => ({ ...wire, unfinished: true })

/** What cannot be read yet may become readable by what is still to come. */
function enough(flows: () => boolean): boolean {
  try {
    return flows()
  } catch {
    return false
  }
}

const wrong = (message: string): GatewayError => new GatewayError({ kind: 'invalid-request', message })
