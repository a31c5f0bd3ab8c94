import type { Caller } from '../accounts/index.ts'
import { invalid } from '../canonical/error.ts'
import type { Format, Json, JsonObject } from '../canonical/node.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { isEncrypted } from '../canonical/signature.ts'
import type { WireFile, WireRequest } from '../canonical/wire.ts'
import type { OnLoss } from '../config/index.ts'
import { unwrapped, wireRequest } from '../formats/routes.ts'
import { READERS } from '../ingress/index.ts'
import { type FormMeters, readForm } from '../ingress/transport/form.ts'
import type { Target } from '../upstreams/router.ts'
import type { Call } from './call.ts'
import type { Capture } from './capture/capture.ts'
import {
  holdsEncryptedState,
  type StateCipher,
  type StateCiphers,
  withStateDecrypted,
} from './compaction/state-cipher.ts'
import { checkModelFields } from './named-models.ts'
import { type Prepared, prepare } from './prepare.ts'
import type { Incoming, Trailing } from './types.ts'

/** Reads the bodies of one caller's request in one format. */
export class RequestReader {
  private readonly call: Call
  private readonly caller: Caller
  private readonly ciphers: StateCiphers
  private readonly capture: Capture | undefined
  /** Format of the request: the endpoint's format, or the format of a request that is wrapped in the body. */
  private format: Format

  constructor(call: Call, caller: Caller, ciphers: StateCiphers, capture: Capture | undefined) {
    this.call = call
    this.format = call.format
    this.caller = caller
    this.ciphers = ciphers
    this.capture = capture
  }

  /** Converts a body to a request of the endpoint's format. Throws GatewayError `invalid-request` if that fails. */
  wire(body: JsonObject, files?: readonly WireFile[]): WireRequest {
    const sent = this.capture?.recordBody(body, files)
    const { route, body: innerBody } = unwrapped(this.call.route, body) ?? { route: this.call.route, body }
    this.format = route.format
    const wire = wireRequest(route, this.call.head, innerBody, files)
    if (sent !== undefined) sent.wire = wire
    return wire
  }

  /**
   * Reads a whole request. Decrypts the state that the gateway encrypted for this caller, after loading the encryption
   * key.
   *
   * @throws GatewayError `invalid-request`, and `forbidden` for a model that the key may not use; GatewayFailure if the
   * encryption key is unavailable.
   */
  async readWhole(wire: WireRequest): Promise<CanonicalRequest> {
    const request = READERS[this.format]!.request!(wire)
    if (!holdsEncryptedState(request)) return this.withModelCheck(request, wire)
    await this.cipher.load()
    return this.withModelCheck(withStateDecrypted(request, this.cipher), wire)
  }

  /** Like `readWhole`, but synchronous. For bodies without encrypted state, or once the encryption key is loaded. */
  read(wire: WireRequest): CanonicalRequest {
    const request = READERS[this.format]!.request!(wire)
    return this.withModelCheck(holdsEncryptedState(request) ? withStateDecrypted(request, this.cipher) : request, wire)
  }

  /**
   * Loads the encryption key if stored items hold encrypted state. Rejects with GatewayFailure if the key is
   * unavailable.
   */
  async loadEncryptionKey(items: readonly JsonObject[]): Promise<void> {
    if (items.some(item => Object.values(item).some(isEncrypted))) await this.cipher.load()
  }

  private get cipher(): StateCipher {
    return this.ciphers.of(this.caller.id)
  }

  private withModelCheck(request: CanonicalRequest, wire: WireRequest): CanonicalRequest {
    const model = request.output.video?.remixOf === undefined ? request.model : undefined
    checkModelFields(this.format, wire, model, this.caller.permissions)
    return request
  }
}

/**
 * Returns whether losses are shown or refused: as the request's header `interlingua-on-loss` states, or else as the
 * key's setting states.
 */
export const onLossOf = ({ headers }: Call['message'], { permissions }: Caller): OnLoss =>
  headers['interlingua-on-loss'] === 'refuse' ? 'refuse' : permissions.onLoss

/**
 * Returns true if the body is a form.
 *
 * @throws GatewayError `invalid-request` if the endpoint accepts only the other kind of body.
 */
export function isForm({ message, body, route }: Call): boolean {
  const form = body === undefined ? route.form : undefined
  const type = message.headers['content-type']
  const isMultipart = type !== undefined && /^\s*multipart\/form-data\b/i.test(type)
  if (isMultipart && form === undefined) throw invalid('This endpoint takes a JSON body, not a form.')
  if (!isMultipart && form === 'only') throw invalid('This endpoint takes a form (`multipart/form-data`).')
  return isMultipart
}

/** Returns true if part of a file was already passed on while it arrived. The request then cannot be sent again. */
export const cannotBeResent = ({ request }: Incoming): boolean =>
  request.messages.some(({ content }) =>
    content.some(part => part.type === 'media' && part.source.type === 'bytes' && part.source.bytes.started === true),
  )

/** Settings and services for reading a form. */
export interface FormOptions {
  /** Maximum size of a form, in bytes. */
  readonly limit: number
  readonly meters: FormMeters
  readonly reader: RequestReader
  /** Returns true if the request may be sent before the whole form has arrived. */
  maySendEarly(request: CanonicalRequest): boolean
}

/**
 * Reads a form as a request. If a large file may be passed on while it arrives, returns as soon as the model is known.
 * `trailing` then delivers the fields after the file.
 */
export async function readFormRequest(
  call: Call,
  { limit, meters, reader, maySendEarly }: FormOptions,
): Promise<Pick<Incoming, 'request' | 'trailing' | 'drop'>> {
  const form = await readForm(
    call.message,
    limit,
    (body, files) =>
      body['model'] !== undefined && isEnough(() => maySendEarly(reader.read(asUnfinished(reader.wire(body, files))))),
    meters,
  )
  try {
    const wire = reader.wire(form.body, form.files)
    const request = reader.read(form.completeForm === undefined ? wire : asUnfinished(wire))
    const trailing =
      form.completeForm === undefined
        ? undefined
        : new TrailingFields(form.completeForm.then(({ body, files }) => reader.read(reader.wire(body, files))))
    return { request, trailing, drop: form.drop }
  } catch (thrown) {
    form.drop()
    throw thrown
  }
}

const asUnfinished = (wire: WireRequest): WireRequest => ({ ...wire, unfinished: true })

/**
 * Returns true if the fields so far are enough to send the request. A failure means that they are not, because later
 * fields may make the request readable.
 */
function isEnough(maySendEarly: () => boolean): boolean {
  try {
    return maySendEarly()
  } catch {
    return false
  }
}

/** Form fields that follow a file that is passed on while it arrives. */
class TrailingFields implements Trailing {
  request: CanonicalRequest | undefined
  fault: unknown
  private readonly pendingRequest: Promise<CanonicalRequest>

  constructor(pendingRequest: Promise<CanonicalRequest>) {
    this.pendingRequest = pendingRequest
    pendingRequest.then(
      request => (this.request = request),
      thrown => (this.fault = thrown),
    )
  }

  async parts(sent: Prepared, target: Target): Promise<Pick<WireRequest, 'body' | 'files'>> {
    const { wire } = prepare(await this.pendingRequest, target)
    const fields = Object.entries(wire.body).flatMap(([name, value]) => {
      const remaining = unsentValues(Object.hasOwn(sent.wire.body, name) ? sent.wire.body[name] : undefined, value)
      return remaining === undefined ? [] : [[name, remaining] as const]
    })
    return {
      body: Object.fromEntries(fields),
      files: (wire.files ?? []).slice(sent.wire.files?.length ?? 0),
    }
  }
}

/** Returns the values of a field that have not been sent yet. A repeated field is a list. */
function unsentValues(sent: Json | undefined, value: Json): Json | undefined {
  if (sent === undefined) return value
  const sentCount = Array.isArray(sent) ? sent.length : 1
  return Array.isArray(value) && value.length > sentCount ? value.slice(sentCount) : undefined
}
