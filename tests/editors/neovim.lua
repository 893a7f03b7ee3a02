-- Inside of Neovim: waits for the diagnostics of the open pipeline, asks for a hover, renames and formats.
local function check(condition, what)
  if not condition then
    io.stderr:write('FAILED: ' .. what .. '\n')
    vim.cmd('cquit 1')
  end
end

local function ask(method, params)
  local answers = vim.lsp.buf_request_sync(0, method, params, 10000)
  for _, answer in pairs(answers or {}) do
    check(answer.err == nil, method .. ': ' .. vim.inspect(answer.err))
    return answer.result
  end
  check(false, 'no answer to ' .. method)
end

check(vim.bo.filetype == 'pipe', 'the file type is ' .. vim.bo.filetype)
check(vim.wait(20000, function() return #vim.diagnostic.get(0) > 0 end, 20), 'there are no diagnostics')
local first = vim.diagnostic.get(0)[1]
check(first.lnum == 4 and first.col == 5, 'the diagnostic is at ' .. first.lnum .. ':' .. first.col)
check(first.message:find("did you mean 'sqrt'"), first.message)

vim.api.nvim_win_set_cursor(0, { 4, 5 })
local hover = ask('textDocument/hover', vim.lsp.util.make_position_params())
check(hover.contents.value:find('real d'), vim.inspect(hover))

vim.api.nvim_buf_set_lines(0, 4, 5, false, { 's+=sqrt(d*d);' })
check(vim.wait(20000, function() return #vim.diagnostic.get(0) == 0 end, 20), 'the diagnostics do not go')

local rename = vim.lsp.util.make_position_params()
rename.newName = 'delta'
local edit = ask('textDocument/rename', rename)
vim.lsp.util.apply_workspace_edit(edit, 'utf-16')
local edits = ask('textDocument/formatting', vim.lsp.util.make_formatting_params())
vim.lsp.util.apply_text_edits(edits, 0, 'utf-16')
local lines = vim.api.nvim_buf_get_lines(0, 3, 5, false)
check(lines[1] == 'real delta = xj - xi;', lines[1])
check(lines[2] == 's += sqrt(delta * delta);', lines[2])
io.stdout:write('all is well\n')
vim.cmd('qall!')
