import type { SchemaException } from '../../schema.ts'

/* Deviations of the real service from the published schema of messages. */

export const exceptions: readonly SchemaException[] = [
  {
    schema: /^ErrorResponse$/,
    fault: /^\/error\/type must be equal to one of the allowed values/,
    why: 'The schema lacks request_too_large, which the edge sends with 413, and newer types of errors.',
  },
  {
    schema: /^CreateMessageParams$/,
    fault: /^\/messages\/#\/role /,
    why: 'Messages may include a turn with the role system.',
  },
  {
    schema: /^CreateMessageParams$/,
    fault: /^ must NOT have additional properties \{"additionalProperty":"output_format"\}/,
    why: 'The beta name of output_config.format is still accepted.',
  },
  {
    schema: /^MessageStreamEvent$/,
    fault: /^\/usage must have required property '(input_tokens|cache_creation_input_tokens|cache_read_input_tokens)'/,
    why: 'The publisher’s own examples of message_delta only have output_tokens.',
  },
  {
    schema: /^Message$|^MessageStreamEvent$/,
    fault:
      /^(\/message)?(\/content\/#|\/content_block|\/usage|\/delta)? must have required property '(cache_creation_input_tokens|cache_read_input_tokens|citations|container|stop_details|cache_creation|inference_geo|output_tokens_details|server_tool_use|service_tier|caller)'/,
    why: 'The schema requires nullable fields that recorded answers and the SDK’s own mock data omit.',
  },
  {
    schema: /^Message$|^MessageStreamEvent$/,
    fault:
      /must have required property '(web_fetch_requests|web_search_requests)'|\/content must have required property 'citations'/,
    why: 'Counts and lists of unused hosted tools are omitted.',
  },
  {
    schema: /^Message$|^MessageStreamEvent$/,
    fault: /^\/content(\/#|_block)\/type must be equal to one of the allowed values/,
    why: 'Beta features have additional blocks: mcp_tool_use, mcp_tool_result.',
  },
]
