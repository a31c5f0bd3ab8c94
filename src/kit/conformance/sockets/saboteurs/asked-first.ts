import { objectOf } from '../../json.ts'
import { frameOf, typeOf } from '../frame.ts'
import type { SessionSaboteur } from './saboteur.ts'

export const saboteur: SessionSaboteur = {
  name: 'asked-first',
  says: 'The response is requested before the result of the call arrives.',
  cell: 'realtime-realtime/function-call/session',
  caught: ['request.meaning:sequence'],
  meddling: () => {
    let held: string | undefined
    return {
      client: text => {
        const { data } = frameOf(text)
        if (objectOf(data?.['item'])['type'] === 'function_call_output') {
          held = text
          return []
        }
        return typeOf(data) === 'response.create' && held !== undefined ? [text, held] : [text]
      },
    }
  },
}
