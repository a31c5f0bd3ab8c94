import { type SessionSaboteur, where } from './saboteur.ts'

export const saboteur: SessionSaboteur = {
  name: 'arguments-cut',
  says: 'The last delta of a call’s arguments is lost, and the done event only has the remaining arguments.',
  cell: 'realtime-realtime/function-call/session',
  caught: ['answer.meaning:responses[0].calls[0].arguments', 'stream.arguments.done'],
  meddling: () => ({
    server: where('response.function_call_arguments.delta', data => (data['delta'] === 'rn"}' ? [] : [data])),
  }),
}
