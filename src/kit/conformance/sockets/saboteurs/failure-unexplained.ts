import { objectOf } from '../../json.ts'
import { type SessionSaboteur, where } from './saboteur.ts'

export const saboteur: SessionSaboteur = {
  name: 'failure-unexplained',
  says: 'The error of a failed response is lost.',
  cell: 'realtime-realtime/failed/session',
  caught: [
    'answer.meaning:responses[0].failure.code',
    'answer.meaning:responses[0].failure.message',
    'answer.meaning:responses[0].failure.type',
  ],
  meddling: () => ({
    server: where('response.done', data => {
      const { status_details: details, ...response } = objectOf(data['response'])
      const { error: _, ...others } = objectOf(details)
      return [{ ...data, response: { ...response, status_details: details ? others : null } }]
    }),
  }),
}
