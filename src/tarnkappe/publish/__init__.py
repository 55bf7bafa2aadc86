"""What a group may say."""
