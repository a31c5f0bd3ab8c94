import { bytesOf } from './body.ts'
import type { RecordedBody } from './recording.ts'

/** Boundary for forms whose header states none. */
const BOUNDARY = 'interlingua-form-boundary'

/** Returns the media type of a form, with the recorded boundary if there is one. */
export const formType = (recorded: string | undefined): string =>
  boundaryOf(recorded) === undefined ? `multipart/form-data; boundary=${BOUNDARY}` : recorded!

const boundaryOf = (type = ''): string | undefined => {
  const [, quoted, plain] = /boundary=(?:"([^"]+)"|([^;\s]+))/i.exec(type) ?? []
  return quoted ?? plain
}

/** Writes a recorded form as bytes of `multipart/form-data` (RFC 7578). */
export function formBytes(form: NonNullable<RecordedBody['form']>, type: string): Buffer {
  const boundary = boundaryOf(type) ?? BOUNDARY
  const parts = form.flatMap(part => {
    const name = part.name === undefined ? '' : `; filename="${escaped(part.name)}"`
    const media =
      part.media_type === undefined || part.media_type === ''
        ? ''
        : `content-type: ${part.media_type.replace(/[\0\r\n]/g, '')}\r\n`
    const head = `--${boundary}\r\ncontent-disposition: form-data; name="${escaped(part.field)}"${name}\r\n${media}\r\n`
    return [Buffer.from(head), bytesOf(part), Buffer.from('\r\n')]
  })
  return Buffer.concat([...parts, Buffer.from(`--${boundary}--\r\n`)])
}

const escaped = (name: string): string =>
  name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('\0', '%00')
