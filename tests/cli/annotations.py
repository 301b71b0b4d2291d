def nothing(): pass
