export { errorBody, writeError } from '../openai-error.ts'
