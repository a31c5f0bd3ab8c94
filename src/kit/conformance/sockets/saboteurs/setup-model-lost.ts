import { objectOf } from '../../json.ts'
import { frameOf } from '../frame.ts'
import type { SessionSaboteur } from './saboteur.ts'

export const saboteur: SessionSaboteur = {
  name: 'setup-model-lost',
  says: 'The setup of a session of Google names no model and requests no transcript.',
  cell: 'live-live/spoken-answer/session',
  caught: ['request.meaning:settings.transcripts', 'request.model'],
  meddling: () => ({
    client: text => {
      const { setup } = frameOf(text).data ?? {}
      if (setup === undefined) return [text]
      const { model: _, outputAudioTranscription: __, ...others } = objectOf(setup)
      return [JSON.stringify({ setup: others })]
    },
  }),
}
