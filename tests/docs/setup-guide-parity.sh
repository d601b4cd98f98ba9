# pip finds no network at once, whatever this machine has
export http_proxy=http://127.0.0.1:9 https_proxy=http://127.0.0.1:9 PIP_RETRIES=0
