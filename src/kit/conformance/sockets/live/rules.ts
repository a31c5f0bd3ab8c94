import type { Rule } from '../../rules.ts'

const WIRE = 'docs/wire/live.md'

export const RULES: readonly Rule[] = [
  ...[
    ['message', `${WIRE}#frames`, 'Every frame is a JSON object.'],
    ['setup-complete', `${WIRE}#setup`, 'The first message is setupComplete.'],
    ['turn', `${WIRE}#order`, 'Every answer ends with turnComplete or a call.'],
    ['call', `${WIRE}#server-messages`, 'A call has an id and a name, and its arguments are an object.'],
    ['close', 'https://www.rfc-editor.org/rfc/rfc6455#section-7.1.1', 'The connection ends with a close frame.'],
  ].map(([id, source, says]): Rule => ({ id: id!, on: 'stream', level: 'must', source: source!, says: says! })),
  ...[
    ['setup', `${WIRE}#setup`, 'The first frame is the setup, and there is only one setup.'],
    ['model', `${WIRE}#setup`, 'The setup names a model.'],
    ['message', `${WIRE}#frames`, 'Every frame has exactly one client message.'],
    [
      'response',
      `${WIRE}#client-messages`,
      'A tool response has the id and name of its call, and its response is an object.',
    ],
    [
      'activity',
      `${WIRE}#client-messages`,
      'Without detection of activities, activityStart comes before the audio of each turn, and activityEnd after it.',
    ],
    ['audio', `${WIRE}#audio`, 'Audio has the type audio/pcm with a rate.'],
  ].map(([id, source, says]): Rule => ({ id: id!, on: 'request', level: 'must', source: source!, says: says! })),
]
