// An echo tool on the official TypeScript MCP server: what the platform's calls are measured against. Prints its port.
import { createServer } from 'node:http';
import { createRequire } from 'node:module';

// The packages are where they were installed, not beside this file.
const installed = createRequire(`${process.cwd()}/`);
const { McpServer, createMcpHandler } = installed('@modelcontextprotocol/server');
const { toNodeHandler } = installed('@modelcontextprotocol/node');
const { z } = installed('zod');

const names = ['echo'];
for (let tool = 1; tool < Number(process.env.TOOLS ?? 1); tool += 1) names.push(`tool-${tool}`);
const inputSchema = z.object({ text: z.string() });
const echo = async ({ text }) => ({ content: [{ type: 'text', text }] });
const make = () => {
  const server = new McpServer({ name: 'echo', version: '1.0.0' });
  for (const name of names) server.registerTool(name, { description: 'gives back its input', inputSchema }, echo);
  return server;
};
const server = createServer(toNodeHandler(createMcpHandler(make)));
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
