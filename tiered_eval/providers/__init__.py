"""One file a vendor: each turns a :class:`ModelRequest` into a :class:`ModelReply`, and foreign errors into ours."""
